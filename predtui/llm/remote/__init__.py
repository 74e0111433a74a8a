"""Models behind a network: one client, a small file for each kind of server, and the model that they make."""
