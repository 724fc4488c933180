"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from ..util.text_files import ErrorHandling

Segmentation = Literal["spans", "none"]
EngineName = Literal["local", "ray"]

# fmt: off
Address = Annotated[str | None, Option(help="The Ray cluster (HOST:PORT); default: start one here")]  # noqa: E501
BadBytes = Annotated[ErrorHandling, Option("--errors", help="How to handle bytes that the encoding cannot decode")]  # noqa: E501
BadBytesOfPipeline = Annotated[ErrorHandling | None, Option("--errors", help="How to handle bytes that the encoding cannot decode; default: strict, or as in training")]  # noqa: E501
Encoding = Annotated[str, Option("--encoding", help="The encoding of the input, such as latin-1")]  # noqa: E501
Code = Annotated[Path | None, Option("--code", "-c", help="A Python file with registered functions that are needed")]  # noqa: E501
Component = Annotated[str | None, Option("--component", "-c", help="The component. Default: the first text classifier over spans, or else the first bilou_ner or spancat")]  # noqa: E501
ConfigOutput = Annotated[str, Argument(help="The config to write; '-' for standard output")]  # noqa: E501
Column = Annotated[str | None, Option("--column", "--text", help="The column of a table or dataset that holds the text")]  # noqa: E501
DictionaryFile = Annotated[Path | None, Option("--dictionary", "-d", help="The n-gram dictionary; default: the built-in English one")]  # noqa: E501
EncodingOfPipeline = Annotated[str | None, Option("--encoding", help="The encoding of the data, such as latin-1; default: utf-8, or as in training")]  # noqa: E501
Engine = Annotated[EngineName, Option(help="Compute on this machine, or on a Ray cluster")]  # noqa: E501
File = Annotated[str | None, Option("--file", "-f", help="A table (CSV, TSV, JSONL or Parquet), or a file with one text per line; '-' is the standard input")]  # noqa: E501
Force = Annotated[bool, Option("--force", "-F", help="Overwrite an existing file")]
GpuId = Annotated[int, Option("--gpu-id", "-g", min=-1, help="GPU ID; -1 for CPU")]
GpuIds = Annotated[str, Option("--gpu-id", "-g", help="GPU ID, or one for each process: 0,1; -1 for CPU")]  # noqa: E501
Html = Annotated[Path | None, Option("--html", help="Write a page with the texts marked in color")]  # noqa: E501
Incomplete = Annotated[Literal["error", "skip"] | None, Option("--incomplete", help="How to treat rows that lack a text or a label; default: error, or as in training")]  # noqa: E501
Jsonl = Annotated[bool, Option("--jsonl", help="Print JSON, an object per line")]
Label = Annotated[str | None, Option(help="The column of the label")]
LabelSeparator = Annotated[str | None, Option(help="What separates several labels in one cell, such as a comma")]  # noqa: E501
Lang = Annotated[str, Option("--lang", "-l", help="The language of the tokenizer")]
Model = Annotated[str, Argument(help="A trained pipeline, by name or path")]
Pooled = Annotated[Segmentation | None, Option("--segmentation", help="Use spans, or context windows without spans (none); default: spans for text classifiers, none for others")]  # noqa: E501
Quiet = Annotated[bool, Option("--quiet", "-q", help="Do not show progress or a summary")]  # noqa: E501
Score = Annotated[str | None, Option(help="The column of a number, in place of labels")]
Separator = Annotated[str | None, Option(help="Stands between the texts of a pair, as in training")]  # noqa: E501
Text = Annotated[str | None, Option(help="The column of the text, or of the first of two")]  # noqa: E501
TextPair = Annotated[str | None, Option(help="The column of the second text of a pair")]
Texts = Annotated[list[str] | None, Argument(help="Texts")]
Transformer = Annotated[str | None, Option("--transformer", "-t", help="The encoder, by name or folder; default: a small one for a CPU")]  # noqa: E501
# fmt: on
