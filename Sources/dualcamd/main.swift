print("dualcamd")
