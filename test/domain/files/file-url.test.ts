import { describe, expect, it } from "vitest";
import { filePathEnd, filePathPrefix, parseFilePath, signedFileText, uploadId } from "../../../domain/files/file-url.ts";
import { fileManifest } from "../../../domain/files/schemas.ts";
import { isRunId } from "../../../domain/invocation/run-id.ts";
import { parseResumePath, signedText } from "../../../domain/workflow/resume-request.ts";

const signature = "s".repeat(43);
const hex = "0123456789abcdef0123456789abcdef";
const manifest = `${hex}-91`;
const pathOf = (name: string, run = "r_0000000100"): string => filePathPrefix({ run, expires: 5 }, signature) + filePathEnd(manifest, name);

describe("the path of a file", () => {
  it.each(["report.pdf", "a b/c?d#e&f=%2F", "Übersicht.csv", "..", "日本.txt"])("is read back: %s", (name) => {
    expect(parseFilePath(pathOf(name))).toEqual({ run: "r_0000000100", expires: 5, signature, manifest, name });
  });

  it("may be that of an upload, whose id is not that of a run", () => {
    const run = uploadId("a1");
    expect(parseFilePath(pathOf("body.bin", run))?.run).toBe(run);
    expect(isRunId(run)).toBe(false);
  });

  it.each([
    ["no name", pathOf("x").slice(0, -1)],
    ["a further segment", `${pathOf("x")}/y`],
    ["a broken escape", `${pathOf("x")}%E0%A4`],
    ["a name that is too long", pathOf("x".repeat(1_025))],
    ["a short signature", pathOf("x").replace("ss", "s")],
    ["a signature of other characters", pathOf("x").replace("s", "+")],
    ["no part's name as manifest", pathOf("x").replace(hex, hex.toUpperCase())],
    ["a wildcard for the run", pathOf("x", "*")],
    ["two tokens for the run", pathOf("x", "r_1.r_2")],
    ["a path that climbs", pathOf("x", "..")],
    ["something before it", `/a${pathOf("x")}`],
  ])("is that of an ordinary request with %s", (_case, path) => {
    expect(parseFilePath(path)).toBe(undefined);
  });
});

it("is signed by another text than any resume URL", () => {
  const file = signedFileText({ owner: "u_1", source: "p_1", run: "r_1", expires: 1 });
  expect(file).toBe("files.u_1.p_1.r_1.1");
  // The run of a resume URL begins with r_, by the pattern of its path.
  expect(parseResumePath(`/runs/files/1/resume/1/${signature}`)).toBe(undefined);
  expect(signedText({ run: "r_1", suspension: 1, action: "resume", expires: 1 })).not.toMatch(/^files\./);
});

describe("a manifest", () => {
  const full = `${hex}-524288`;
  it.each([[[]], [[`${hex}-1`]], [[full]], [[full, full, `${hex}-1`]], [Array.from({ length: 1_024 }, () => full)]])(
    "has full parts, and a rest",
    (parts) => {
      expect(fileManifest.safeParse(parts).success).toBe(true);
    },
  );

  it.each([
    ["a part in the middle that is not full", [`${hex}-1`, full]],
    ["an empty part", [`${hex}-0`]],
    ["a part that is too large", [`${hex}-524289`]],
    ["more than a run may have", Array.from({ length: 1_025 }, () => full)],
    ["a subject in place of a name", ["files.u_1"]],
    ["no list", { 0: full }],
    ["nothing", null],
  ])("is refused with %s", (_case, parts) => {
    expect(fileManifest.safeParse(parts).success).toBe(false);
  });
});
