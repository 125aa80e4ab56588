import { z } from "zod";
import { text } from "../http/request/parameters.ts";

export const emailField = text
  .max(255, "it must have at most 255 characters")
  .regex(/^[^@\s]+@[^@\s]+$/, "it must be an address such as ada@example.com");

export const nameField = text
  .max(64, "it must have at most 64 characters")
  .regex(/^[\w.-]+$/, "it must be letters, digits, dots, dashes and underscores");

export const emailConfirmedField = z
  .boolean()
  .nullish()
  .describe("True if you know that its holder wants the mails, as after a sign-up with a link. By default, the owner must confirm it.");
