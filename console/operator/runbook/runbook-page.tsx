import markdown from '../../../docs/operate/README.md';
import { Foreign } from '../../parts/foreign.tsx';
import { useTitle } from '../../parts/title.ts';
import { useId } from '../parts/address.ts';
import { NoScreen } from '../parts/no-screen.tsx';
import { piecesOf, sectionOf } from './section.ts';

/** Shows the section of an alert in docs/operate/README.md, which is a part of the bundle. */
export function RunbookPage() {
  const alert = useId();
  useTitle(alert);
  const blocks = sectionOf(markdown, alert);
  if (blocks === undefined) return <NoScreen />;
  return (
    <article className="panel runbook">
      <h1>{alert}</h1>
      {blocks.map((block) =>
        block.kind === 'text' ? (
          <p key={block.text}>
            <Line text={block.text} />
          </p>
        ) : (
          <ul key={block.items[0]}>
            {block.items.map((item) => (
              <li key={item}>
                <Line text={item} />
              </li>
            ))}
          </ul>
        ),
      )}
      <p className="note">docs/operate/README.md#{alert.toLowerCase()}</p>
    </article>
  );
}

function Line({ text }: { readonly text: string }) {
  return piecesOf(text).map(({ kind, text: piece }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never move
    kind === 'code' ? <code key={index}>{piece}</code> : <Foreign key={index} text={piece} />,
  );
}
