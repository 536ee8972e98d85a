"""Colab and Binder buttons only where they lead somewhere: both open the chapters from the book's public repository."""


def wait_for_an_address(app, config):
    options = config.html_theme_options
    if not options.get("repository_url"):
        options.pop("launch_buttons", None)


def setup(app):
    app.connect("config-inited", wait_for_an_address)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
