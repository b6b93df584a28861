import DualCamDaemon

Program.main()
