import sprite from "./marks.svg";
import { marked } from "./slugs.ts";

/** The mark of an app by its slug; the first letter of its name if there is none. It stands beside the name, so it has no text of its own. */
export function Mark({ app, name }: { readonly app: string; readonly name: string }) {
  return (
    <span aria-hidden className="inline-flex size-5 shrink-0 items-center justify-center">
      {marked.has(app) ? (
        <svg className="size-5 fill-current">
          <use href={`${sprite}#${app}`} />
        </svg>
      ) : (
        <span className="flex size-5 items-center justify-center rounded bg-line text-xs font-semibold">
          {name.charAt(0).toUpperCase()}
        </span>
      )}
    </span>
  );
}
