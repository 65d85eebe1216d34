"""The networks: each is one entry of `catalog` and one file with a function `build`."""
