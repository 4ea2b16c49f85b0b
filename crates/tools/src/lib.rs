//! Tool implementations: mock tools in process and over the Model Context Protocol.
