import { join } from "node:path";
import { createElement, type FunctionComponent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { errorOfResponse } from "../../client/errors.ts";
import { errorCodes } from "../../domain/error-codes.ts";
import { bodyOf, errorSamples } from "../support/error-samples.ts";

// The console has a configuration of the compiler of its own, which knows JSX.
const notices: string = "../../console/parts/notices.tsx";
const { ErrorNotice } = (await import(notices)) as { readonly ErrorNotice: FunctionComponent<{ title: string; error: Error }> };

/** What the console shows for each error code. After a change of texts, `-u` writes the file: read what differs. */
it("shows the text in error-texts.txt for each error code", async () => {
  const texts = errorCodes.map((code) => {
    const sample = errorSamples[code];
    const error = errorOfResponse({ status: sample[0], headers: new Headers() }, bodyOf(code, sample));
    const text = renderToStaticMarkup(createElement(ErrorNotice, { title: code, error }))
      .replaceAll(/<\/(?:p|pre)>/g, "\n")
      .replaceAll(/<[^>]*>/g, "");
    const entities: Readonly<Record<string, string>> = { "&quot;": '"', "&#x27;": "'", "&gt;": ">", "&lt;": "<", "&amp;": "&" };
    return text.replaceAll(/&[#\w]+;/g, (entity) => entities[entity] ?? entity);
  });
  await expect(texts.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "error-texts.txt"));
});
