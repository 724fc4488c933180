"""Messages of errors: model cards, and uploads to the Hugging Face hub."""

from .shortening import shortened


@shortened
class PublishingErrors:
    """Messages with named gaps, filled with `str.format`."""

    BAD_META = (
        "{path!r} does not describe a pipeline: {reason}. Correct it, or save the "
        "pipeline again with nlp.to_disk."
    )
    BAD_WHEEL = (
        "{path!r} is not the wheel of a pipeline: {reason}. Build it with: python -m "
        "spacy package MODEL OUTPUT --build wheel"
    )
    BAD_REPO = (
        "--repo is {repo!r}, but must be USER/NAME or ORGANIZATION/NAME, of letters, "
        "digits, '-', '_' and '.', with a letter, a digit or '_' at both ends of both, "
        "without '--' and '..', and without '.git' at the end."
    )
    NOT_LOGGED_IN = (
        "You are not logged in to the Hugging Face hub. Make a token that may write at "
        "https://huggingface.co/settings/tokens, and run `hf auth login`, or set "
        "HF_TOKEN."
    )
    BAD_TOKEN = (
        "The Hugging Face hub does not accept your token. Make another one at "
        "https://huggingface.co/settings/tokens, and run `hf auth login`, or set "
        "HF_TOKEN."
    )
    NO_RIGHTS = (
        "Your token may not write to {repo!r}: {reason}. Is it your user name, or an "
        "organization that you are a member of? And may the token write?"
    )
    PUBLIC_REPO = (
        "{repo!r} already exists, and anybody can see it. Make it private in its "
        "settings on the hub, or leave out --private."
    )
    HUB_REFUSED = "The Hugging Face hub did not take {repo!r}: {reason}"
    NO_HUB = (
        "The Hugging Face hub ({endpoint}) cannot be reached. Nothing was changed, or "
        "only an empty repository was made. Try again later: {reason}"
    )
    BAD_CARD = "The hub does not accept the top of README.md: {reason}"
