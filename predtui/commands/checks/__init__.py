"""What the doctor looks at, by subject. Each check takes the settings and yields findings."""
