"""Who this instance is and which cluster it belongs to, when nobody says so."""
