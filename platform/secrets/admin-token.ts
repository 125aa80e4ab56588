import { readFile } from "node:fs/promises";
import { InvalidInput } from "../../domain/errors.ts";

/** Undefined without a file: then there is no admin API. @throws InvalidInput, without a word of what is in the file */
export async function readAdminToken(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((cause: Error) => {
    throw new InvalidInput(`the admin token of HEADWATER_ADMIN_TOKEN_FILE cannot be read: ${cause.message}`, {
      code: "admin_token_unreadable",
      cause,
    });
  });
  const token = text.trim();
  // Whatever is shorter, or a sentence, could be guessed.
  if (/^\S{32,512}$/.test(token)) return token;
  throw new InvalidInput(
    `${file} holds no admin token: it must be 32 to 512 characters without spaces, such as 'openssl rand -hex 32' prints`,
    { code: "admin_token_unfit" },
  );
}
