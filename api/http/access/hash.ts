import { hash } from "node:crypto";

/** SHA-256, lower-case hex. Enough for tokens of 256 random bits; slow hashes are for passwords. */
export const hashOf = (token: string): string => hash("sha256", token);
