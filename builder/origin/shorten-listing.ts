import type { ListedComponent, PackageListing } from "../../domain/component/package-listing.ts";

/** Of a listing as JSON: well below the default `max_payload` of NATS, 1 MiB. */
const maxBytes = 768 * 1024;
const shortText = 100;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** From what is lost least to what is lost most. Addresses are never cut. */
const steps: readonly ((component: ListedComponent) => ListedComponent)[] = [
  (component) => component,
  ({ description, ...component }) => ({
    ...component,
    ...(description === undefined ? {} : { description: description.slice(0, shortText) }),
  }),
  ({ description: _, ...component }) => component,
  ({ description: _, problem, ...component }) => ({
    ...component,
    name: component.name.slice(0, shortText),
    ...(problem === undefined ? {} : { problem: problem.slice(0, shortText) }),
  }),
];

/** The listing with shorter descriptions, then without them, and at last without its last components, so that it fits a reply. */
export function shortenListing(listing: PackageListing): PackageListing {
  for (const shorten of steps) {
    const shortened = { ...listing, components: listing.components.map(shorten) };
    if (bytesOf(shortened) <= maxBytes) return shortened;
  }
  const shortest = listing.components.map((component) => steps.at(-1)?.(component) ?? component);
  let room = maxBytes - bytesOf({ ...listing, components: [] });
  const kept = shortest.findIndex((component) => (room -= bytesOf(component) + 1) < 0);
  return { ...listing, components: kept === -1 ? shortest : shortest.slice(0, kept) };
}
