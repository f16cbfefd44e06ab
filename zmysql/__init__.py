"""zmysql: the ZFS pool-layout toolkit for MySQL."""

__version__ = "0.1.0"
