import markdown from '../../../docs/operate/README.md';
import { NoPage, Panel, useTitle } from '../../parts/screen.tsx';
import { Marked } from '../../parts/text.tsx';
import { useId } from '../api.ts';
import { plainOf, sectionOf } from './section.ts';

/** Shows the section of an alert in docs/operate/README.md, which is a part of the bundle. */
export function RunbookPage() {
  const alert = useId();
  useTitle(alert);
  const blocks = sectionOf(markdown, alert);
  if (blocks === undefined) return <NoPage home={['/now', 'Now']} />;
  return (
    <Panel heading="h1" title={alert} className="runbook">
      {blocks.map((block) =>
        block.kind === 'text' ? (
          <p key={block.text}>
            <Marked text={plainOf(block.text)} />
          </p>
        ) : (
          <ul key={block.items[0]}>
            {block.items.map((item) => (
              <li key={item}>
                <Marked text={plainOf(item)} />
              </li>
            ))}
          </ul>
        ),
      )}
      <p className="note">docs/operate/README.md#{alert.toLowerCase()}</p>
    </Panel>
  );
}
