import { createLink } from "@tanstack/react-router";
import { forwardRef, type AnchorHTMLAttributes, type ButtonHTMLAttributes } from "react";

export type ButtonKind = "primary" | "plain" | "danger" | "quiet";

const looks: Readonly<Record<ButtonKind, string>> = {
  primary: "bg-accent text-on-accent border-transparent hover:opacity-90",
  plain: "bg-surface text-text border-line hover:bg-accent-soft",
  danger: "bg-surface text-bad border-line hover:bg-bad-soft",
  quiet: "bg-transparent text-muted border-transparent hover:bg-accent-soft hover:text-text",
};

const look = (kind: ButtonKind): string =>
  `inline-flex min-h-8 items-center justify-center gap-2 rounded-md border px-1 py-1 min-[12rem]:px-3 text-sm font-medium no-underline disabled:opacity-50 ${looks[kind]}`;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: ButtonKind;
}

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind = "plain", className = "", type = "button", ...rest },
  ref,
) {
  return <button ref={ref} type={type} className={`${look(kind)} ${className}`} {...rest} />;
});

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly kind?: ButtonKind;
}

/** A link to a page of the console that looks like a button. */
export const ButtonLink = createLink(
  forwardRef<HTMLAnchorElement, LinkProps>(function ButtonAnchor({ kind = "plain", className = "", children, ...rest }, ref) {
    return (
      <a ref={ref} className={`${look(kind)} ${className}`} {...rest}>
        {children}
      </a>
    );
  }),
);

/** A link inside text and tables. */
export const TextLink = createLink(
  forwardRef<HTMLAnchorElement, AnchorHTMLAttributes<HTMLAnchorElement>>(function TextAnchor({ className = "", children, ...rest }, ref) {
    return (
      <a ref={ref} className={`text-accent underline-offset-2 hover:underline ${className}`} {...rest}>
        {children}
      </a>
    );
  }),
);
