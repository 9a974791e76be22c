"""Parts of the site that ``docs/build_site.py`` builds: generated pages, pictures, and checks of the result."""
