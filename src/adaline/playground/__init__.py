"""The playground: the lectures' systems learn on a page in the browser; a face, which nothing else imports.

The page draws and the server computes: messages over a WebSocket (`messages`) are answered by one session a page
(`session`), which fits the systems of the registry step by step (`traces`) and makes what is drawn of them
(`pictures`, `instruments`). Guided scenes and all texts are data, in `page/`.
"""
