"""A small file for each kind of server, with a line in the registry: it is asked whether it is one, and what it can."""
