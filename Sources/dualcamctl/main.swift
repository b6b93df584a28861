print("dualcamctl")
