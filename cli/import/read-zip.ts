import { crc32, inflateRawSync } from "node:zlib";
import { FilesWithinBounds, refused, type ExportFiles } from "./bounds.ts";

/** Signatures and fields of APPNOTE.TXT, the format's specification. */
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const entryBytes = 46;
const localBytes = 30;
const maxCommentBytes = 65_535;
const [stored, deflated] = [0, 8];
const isEncrypted = 1;
const unixLink = 0o120000;
const unixType = 0o170000;

interface Entry {
  readonly path: string;
  readonly method: number;
  readonly crc: number;
  readonly packedBytes: number;
  readonly bytes: number;
  /** Of its local header. */
  readonly offset: number;
}

/**
 * The files of a ZIP archive. Sizes are checked as the directory states them, before anything is unpacked, and unpacking stops at the
 * stated size. @throws Failure
 */
export function readZip(archive: string, content: Buffer): ExportFiles {
  const kept = new FilesWithinBounds();
  try {
    for (const entry of entriesOf(content, archive)) {
      kept.admit(entry.path, entry.bytes);
      kept.files.set(entry.path, unpacked(entry, content));
    }
  } catch (error) {
    if (error instanceof RangeError) throw refused(archive, "it is no complete ZIP archive");
    throw error;
  }
  return kept.files;
}

/** The entries of the central directory that are files. */
function* entriesOf(content: Buffer, archive: string): Generator<Entry> {
  const end = endOf(content);
  if (end === undefined) throw refused(archive, "it is neither a folder nor a ZIP archive");
  const count = content.readUInt16LE(end + 10);
  let at = content.readUInt32LE(end + 16);
  if (count === 0xffff || at === 0xffffffff) throw refused(archive, "it is a ZIP64 archive: unpack it, and name the folder");
  for (let index = 0; index < count; index++) {
    if (content.readUInt32LE(at) !== entrySignature) throw refused(archive, "its directory is broken");
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => content.readUInt16LE(at + field)) as [number, number, number];
    const path = content.toString("utf8", at + entryBytes, at + entryBytes + nameBytes);
    if ((content.readUInt16LE(at + 8) & isEncrypted) !== 0) throw refused(path, "it is encrypted");
    if (((content.readUInt32LE(at + 38) >>> 16) & unixType) === unixLink)
      throw refused(path, "it is a symbolic link, which could lead out of the export");
    if (!path.endsWith("/"))
      yield {
        path,
        method: content.readUInt16LE(at + 10),
        crc: content.readUInt32LE(at + 16),
        packedBytes: content.readUInt32LE(at + 20),
        bytes: content.readUInt32LE(at + 24),
        offset: content.readUInt32LE(at + 42),
      };
    at += entryBytes + nameBytes + extraBytes + commentBytes;
  }
}

/** Where the end record is: behind it is only a comment. */
function endOf(content: Buffer): number | undefined {
  for (let at = content.length - endBytes; at >= Math.max(0, content.length - endBytes - maxCommentBytes); at--)
    if (content.readUInt32LE(at) === endSignature && at + endBytes + content.readUInt16LE(at + 20) === content.length) return at;
  return undefined;
}

function unpacked({ path, method, crc, packedBytes, bytes, offset }: Entry, content: Buffer): Buffer {
  if (content.readUInt32LE(offset) !== localSignature) throw refused(path, "the archive is broken there");
  const start = offset + localBytes + content.readUInt16LE(offset + 26) + content.readUInt16LE(offset + 28);
  if (start + packedBytes > content.length) throw refused(path, "the archive ends within it");
  const packed = content.subarray(start, start + packedBytes);
  const file = method === stored ? packed : method === deflated ? inflated(path, packed, bytes) : undefined;
  if (file === undefined) throw refused(path, `it is packed by the method ${method}: use 'store' or 'deflate'`);
  if (file.length !== bytes || crc32(file) !== crc) throw refused(path, "its content does not have the stated size or checksum");
  return file;
}

function inflated(path: string, packed: Buffer, bytes: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
  } catch (error) {
    const isLarger = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw refused(path, isLarger ? `it unpacks to more than the ${bytes} bytes that the archive states` : "it cannot be unpacked");
  }
}
