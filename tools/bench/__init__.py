"""What zmysql costs, as ratios to a peer in the same run, or against a stated limit."""
