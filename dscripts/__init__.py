"""The DTrace and bpftrace scripts, packaged so that importlib.resources finds them."""
