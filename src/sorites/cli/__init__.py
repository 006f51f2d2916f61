"""The command line: a thin layer; each command is a file and is imported when it is called."""
