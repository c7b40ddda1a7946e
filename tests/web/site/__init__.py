"""What holds for every page: permissions, headers, hostile addresses, a full disk, no Redis."""
