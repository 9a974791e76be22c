"""What ``docs/build_site.py`` makes the site of: generated pages, pictures, and the checks of what was built."""
