import { Copy } from '../parts/copy.tsx';

/** A line for a terminal, with a button that copies it. */
export function Command({ line }: { readonly line: string }) {
  const whole = `npx --no hookrail ${line}`;
  return (
    <p className="command">
      <code>{whole}</code> <Copy text={whole} what="the command" />
    </p>
  );
}
