import { call } from "../../runtime/bridge.ts";
import { onManifest } from "../../runtime/run-files.ts";
import { encodeUtf8 } from "../../web/encoding/utf8.ts";
import { hostFileError } from "./errors.ts";
import { promised, type Steps } from "./steps.ts";
import { getFile, listed, mustList } from "./tree.ts";

const { stringify } = JSON;

// What the URL of a file names: the ingress reads the file by this list of its parts, which never change.

onManifest(async (path) => {
  const names = await promised(storedParts(path));
  try {
    return (await call("file_write", encodeUtf8(stringify(names)))) as string;
  } catch (error) {
    throw hostFileError(error, "write");
  }
});

/** Names of the parts of a file. Those that are only in memory are stored first. */
function* storedParts(path: string): Steps<readonly string[]> {
  if (mustList()) yield* listed();
  const names: string[] = [];
  for (const part of [...getFile(path, "open").parts]) {
    while (part.name === undefined) yield part;
    names.push(part.name);
  }
  return names;
}
