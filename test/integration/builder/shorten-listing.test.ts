import { expect, it } from "vitest";
import { shortenListing } from "../../../builder/origin/shorten-listing.ts";
import type { PackageListing } from "../../../domain/component/package-listing.ts";

const listingOf = (count: number, texts: { name?: string; description?: string; problem?: string }): PackageListing => ({
  name: "@acme/many",
  version: "1.0.0",
  integrity: "sha512-abc",
  kind: "piece",
  components: Array.from({ length: count }, (_, index) => ({
    address: `#action/a${index}`,
    type: "action",
    name: texts.name ?? "A",
    description: texts.description,
    problem: texts.problem,
  })),
});
const bytes = (listing: PackageListing): number => Buffer.byteLength(JSON.stringify(listing));
const mebibyte = 1024 * 1024;

it("leaves a listing that fits as it is", () => {
  const listing = listingOf(500, { description: "d".repeat(1_000) });
  expect(shortenListing(listing)).toEqual(listing);
});

it("shortens descriptions before it leaves them out", () => {
  const shortened = shortenListing(listingOf(2_000, { description: "d".repeat(1_000) }));
  expect(shortened.components).toHaveLength(2_000);
  expect(shortened.components.at(-1)).toMatchObject({ address: "#action/a1999", description: "d".repeat(100) });
  const without = shortenListing(listingOf(2_000, { description: "\u0001".repeat(1_000) }));
  expect(without.components).toHaveLength(2_000);
  expect(without.components.at(-1)?.description).toBeUndefined();
});

it("fits whatever the names and problems are", () => {
  const texts = { name: "\u0001".repeat(1_000), description: "d", problem: "\u0001".repeat(1_000) };
  const shortened = shortenListing(listingOf(1_500, texts));
  expect(bytes(shortened)).toBeLessThan(mebibyte);
  expect(shortened.components.length).toBeGreaterThan(500);
});
