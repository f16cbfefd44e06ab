"""What tracing costs, and what a sample is worth: measured in the testbed."""
