"""From the same notebooks: slides for a class, a zip to hand out, pages to read in a browser.

For instructors; no chapter teaches it. Nothing here is a second copy: slides, zip and pages are
made anew from `notebooks/`, `exercises/` and the package, into `build/`, which git does not look
at. To read: `lessons` (what a chapter says of itself), `guide` (what the instructor is told),
`assets` (the scripts that pages need, from installed packages or from the network), `pages` (cells
to HTML), then `slides`, `site` and `pack`, one for each command.

Not promised: explorers that move. On slides and pages they show the picture of their first
setting; the notebook shows the rest.
"""
