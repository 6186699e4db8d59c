"""Which instance this is and which cluster it belongs to, where no setting says so."""
