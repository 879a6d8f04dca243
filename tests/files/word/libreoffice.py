"""Opens many documents in one headless LibreOffice, accepts or rejects their changes, reads texts.

A macro in Basic does the work, since LibreOffice's own Python is not always installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

SECONDS = 600
_MACRO = """
Dim sLines As String

Sub Main
  On Error GoTo Broken
  Dim oAccess, oIn, oOut, sLine, aJob, sWay
  oAccess = createUnoService("com.sun.star.ucb.SimpleFileAccess")
  oIn = createUnoService("com.sun.star.io.TextInputStream")
  oIn.setInputStream(oAccess.openFileRead(ConvertToURL(Environ("WORD_JOBS"))))
  oIn.setEncoding("UTF-8")
  Do While Not oIn.isEOF()
    sLine = Join(Split(oIn.readLine(), Chr(10)), "")
    If sLine <> "" Then
      For Each sWay In Array("accept", "reject")
        One(sLine, CStr(sWay))
      Next
    End If
  Loop
  StarDesktop.terminate()
  Exit Sub
Broken:
  sLines = Error$ & " in line " & Erl & Chr(10)
  Written(Environ("WORD_JOBS") & ".error")
End Sub

Sub One(sPath As String, sWay As String)
  Dim oDoc, oHelper, oFrame, aHidden(1) As New com.sun.star.beans.PropertyValue, aNone()
  On Error GoTo Failed
  aHidden(0).Name = "Hidden"
  aHidden(0).Value = True
  aHidden(1).Name = "HiddenForConversion"
  aHidden(1).Value = True
  oDoc = StarDesktop.loadComponentFromURL(ConvertToURL(sPath), "_blank", 0, aHidden())
  sLines = ""
  Notes(oDoc)
  oHelper = createUnoService("com.sun.star.frame.DispatchHelper")
  oFrame = oDoc.CurrentController.Frame
  If sWay = "accept" Then
    oHelper.executeDispatch(oFrame, ".uno:AcceptAllTrackedChanges", "", 0, aNone())
  Else
    oHelper.executeDispatch(oFrame, ".uno:RejectAllTrackedChanges", "", 0, aNone())
  End If
  Blocks(oDoc.Text)
  Written(sPath & "." & sWay)
  oDoc.close(True)
  Exit Sub
Failed:
  sLines = "E" & Chr(9) & Error$ & " in line " & Erl & Chr(10)
  Written(sPath & "." & sWay)
End Sub

Sub Notes(oDoc)
  Dim oFields, oField, oChanges, oChange
  oFields = oDoc.getTextFields().createEnumeration()
  Do While oFields.hasMoreElements()
    oField = oFields.nextElement()
    If oField.supportsService("com.sun.star.text.textfield.Annotation") Then
      Add("C", oField.Author & Chr(9) & oField.Content)
    End If
  Loop
  oChanges = oDoc.getRedlines().createEnumeration()
  Do While oChanges.hasMoreElements()
    oChange = oChanges.nextElement()
    Add("R", oChange.RedlineAuthor & Chr(9) & oChange.RedlineType)
  Loop
End Sub

Sub Blocks(oText)
  Dim oBlocks, oBlock, sName
  oBlocks = oText.createEnumeration()
  Do While oBlocks.hasMoreElements()
    oBlock = oBlocks.nextElement()
    If oBlock.supportsService("com.sun.star.text.TextTable") Then
      For Each sName In oBlock.getCellNames()
        Blocks(oBlock.getCellByName(sName))
      Next
    ElseIf oBlock.supportsService("com.sun.star.text.Paragraph") Then
      Add("P", Portions(oBlock))
    End If
  Loop
End Sub

Function Portions(oParagraph) As String
  Dim oParts, oPart, sText
  sText = ""
  oParts = oParagraph.createEnumeration()
  Do While oParts.hasMoreElements()
    oPart = oParts.nextElement()
    If oPart.TextPortionType = "Text" Or oPart.TextPortionType = "TextField" Then
      sText = sText & oPart.getString()
    End If
  Loop
  Portions = sText
End Function

Sub Add(sKind As String, sText As String)
  sText = Join(Split(sText, Chr(13)), "")
  sText = Join(Split(sText, Chr(10)), Chr(8232))
  sLines = sLines & sKind & Chr(9) & sText & Chr(10)
End Sub

Sub Written(sPath As String)
  Dim oAccess, oOut
  oAccess = createUnoService("com.sun.star.ucb.SimpleFileAccess")
  oOut = createUnoService("com.sun.star.io.TextOutputStream")
  oOut.setOutputStream(oAccess.openFileWrite(ConvertToURL(sPath)))
  oOut.setEncoding("UTF-8")
  oOut.writeString(sLines)
  oOut.closeOutput()
End Sub
"""
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(frozen=True, slots=True)
class Opened:
    """What LibreOffice has of a document, after accepting or rejecting all changes."""

    lines: tuple[str, ...]
    comments: tuple[str, ...]
    """Author and text of each, before."""
    changes: tuple[str, ...]
    """Author and kind of each, before."""
    error: str | None


def soffice() -> str:
    """Return the program; `make test` installs it where it is missing."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    assert found, "LibreOffice is not installed: apt-get install libreoffice-writer-nogui"
    return found


def convert(sources: list[Path], kind: str, target: Path, profile: Path) -> None:
    """Convert documents to another format, in one process."""
    _run(["--convert-to", kind, "--outdir", str(target), *map(str, sources)], profile, {})


def open_all(
    documents: Mapping[str, bytes], folder: Path, profile: Path
) -> dict[tuple[str, str], Opened]:
    """Return what LibreOffice has of each document, by its name and the way."""
    basic = profile / "user" / "basic" / "Standard"
    if not basic.exists():
        _run(["--terminate_after_init"], profile, {})
    module = (
        f'{_HEAD}<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" '
        '"module.dtd">\n<script:module xmlns:script="http://openoffice.org/2000/script" '
        f'script:name="Module1" script:language="StarBasic">{escape(_MACRO)}</script:module>'
    )
    (basic / "Module1.xba").write_text(module, encoding="utf-8")
    paths: dict[str, Path] = {}
    for number, (name, content) in enumerate(documents.items()):
        paths[name] = folder / f"{number}.docx"
        paths[name].write_bytes(content)
    jobs = folder / "jobs.txt"
    jobs.write_text("".join(f"{path}\n" for path in paths.values()), encoding="utf-8")
    _run(["macro:///Standard.Module1.Main"], profile, {"WORD_JOBS": str(jobs)})
    return {
        (name, way): _read(path.with_name(f"{path.name}.{way}"))
        for name, path in paths.items()
        for way in ("accept", "reject")
    }


def _read(path: Path) -> Opened:
    found: dict[str, list[str]] = {"P": [], "C": [], "R": [], "E": []}
    text = path.read_text(encoding="utf-8") if path.exists() else "E\tLibreOffice wrote nothing\n"
    for line in text.split("\n"):
        kind, _, rest = line.partition("\t")
        if kind:
            found[kind].append(rest)
    error = found["E"][0] if found["E"] else None
    return Opened(tuple(found["P"]), tuple(found["C"]), tuple(found["R"]), error)


def _run(arguments: list[str], profile: Path, environment: Mapping[str, str]) -> None:
    subprocess.run(
        [
            soffice(),
            "--headless",
            "--norestore",
            "--nologo",
            f"-env:UserInstallation={profile.as_uri()}",
            *arguments,
        ],
        check=True,
        capture_output=True,
        timeout=SECONDS,
        env={**os.environ, **environment},
    )
