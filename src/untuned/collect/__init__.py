"""Everything before there is a score: environments, agents, definitions, running and storing trials."""
