interface ServicePageProps {
  readonly url: string | null | undefined;
  readonly label: string;
}

/** Links to the page of the service about clients or credentials, if the app has one. */
export function ServicePage({ url, label }: ServicePageProps) {
  if (typeof url !== "string") return null;
  return (
    <a className="block text-sm text-accent hover:underline" href={url} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  );
}
