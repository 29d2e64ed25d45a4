"""Documents that mean harm, or are broken."""

import io
import struct
import zlib

from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

_MEBIBYTE = 1024 * 1024


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of numbered objects; the first is the catalogue."""
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def _stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), entries, body)


_PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>"


def flate_bomb(mebibytes: int) -> bytes:
    """A page whose contents unpack, twice, to so much."""
    outer = zlib.compressobj(9)
    inner = zlib.compressobj(9)
    block, packed = b"0 0 m\n" * (_MEBIBYTE // 6), b""
    for _ in range(mebibytes):
        packed += outer.compress(inner.compress(block))
    packed += outer.compress(inner.flush()) + outer.flush()
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _PAGE,
        _stream(packed, b"/Filter [/FlateDecode /FlateDecode]"),
    )


def many_pages(count: int) -> bytes:
    """So many pages, each an object."""
    kids = b" ".join(b"%d 0 R" % (number + 4) for number in range(count))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>"
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        b"null",
        *[page] * count,
    )


def scripted() -> bytes:
    """A PDF with JavaScript that runs on opening, in a reader that runs any."""
    script = b"<< /S /JavaScript /JS (while \\(true\\) { app.alert\\('again'\\); }) >>"
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R /OpenAction 5 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _PAGE[:-2] + b"/Resources << /Font << /F 6 0 R >> >> >>",
        _stream(b"BT /F 12 Tf 72 720 Td (Page) Tj ET"),
        script,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def huge_picture_pdf(side: int) -> bytes:
    """A page with a picture of side by side pixels that takes no room in the file."""
    row = zlib.compress(b"\0" * 1024, 9)
    picture = b"/Subtype /Image /Width %d /Height %d /BitsPerComponent 8" % (side, side)
    return pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        _PAGE[:-2] + b"/Resources << /XObject << /I 5 0 R >> >> >>",
        _stream(b"q 595 0 0 842 0 0 cm /I Do Q"),
        _stream(row, picture + b" /ColorSpace /DeviceRGB /Filter /FlateDecode"),
    )


def encrypted() -> bytes:
    """A PDF that needs a password to be opened."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, encrypt=StandardEncryption("secret"))
    canvas.drawString(72, 720, "Page")
    canvas.save()
    return buffer.getvalue()


def huge_png(side: int) -> bytes:
    """A PNG that announces side by side pixels."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(b"\0" * 1000)),
            (b"IEND", b""),
        )
    )


def animated_png() -> bytes:
    """A PNG of two frames."""
    frames = [Image.new("RGB", (200, 200), colour) for colour in ("white", "grey")]
    buffer = io.BytesIO()
    frames[0].save(buffer, "PNG", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


def truncated_jpeg() -> bytes:
    """A JPG that breaks off in the middle."""
    buffer = io.BytesIO()
    Image.effect_noise((600, 800), 40).convert("RGB").save(buffer, "JPEG")
    return buffer.getvalue()[: buffer.tell() // 2]
