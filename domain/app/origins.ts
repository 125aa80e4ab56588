import type { AppOauth } from "./app.ts";

/** Origins to which secrets of a client of the app are sent, sorted. */
export const secretOrigins = ({ tokenUrl, refreshUrl, revocationUrl }: Pick<AppOauth, "tokenUrl" | "refreshUrl" | "revocationUrl">) =>
  [...new Set([tokenUrl, refreshUrl, revocationUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).origin])))].toSorted();
