"""The half of neuron-emf that runs in AWS: it turns minute records into cluster rollups."""
