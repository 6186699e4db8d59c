"""Find the instance and its cluster if no setting names them."""
