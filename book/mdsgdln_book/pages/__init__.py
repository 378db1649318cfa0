"""What mends and checks the built pages."""
