"""Read the stored records of minutes again, for close and settle."""
