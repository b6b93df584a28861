import DualCamTool

EntryPoint.main()
