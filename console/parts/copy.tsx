import { useEffect, useState } from 'react';

const SAID_MS = 1500;

interface Props {
  readonly text: string;
  /** Completes "Copy …" for those who hear the page. */
  readonly what: string;
  readonly label?: string;
}

export function Copy({ text, what, label = 'Copy' }: Props) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed'),
    );
  return (
    <button type="button" className="copy" aria-label={`${label} ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
