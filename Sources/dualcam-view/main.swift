import ArgumentParser

ViewCommand.main()
