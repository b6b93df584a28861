import DualCamView

EntryPoint.main()
