"""What tests share: worlds, agents, readers of documents and of the browser's page."""
