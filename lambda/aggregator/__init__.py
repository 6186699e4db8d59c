"""The half of neuron-emf that runs in AWS: minute records in, cluster rollups out."""
