from tests.llm.remote.servers import llama_cpp_server, llama_server, thinking_server, transformers_server

__all__ = ["llama_cpp_server", "llama_server", "thinking_server", "transformers_server"]
