import { ReadTable, Screen, Shown, Way } from '../../parts/screen.tsx';
import { Time } from '../../parts/text.tsx';
import { inWords } from '../../parts/words.ts';
import { useCommand } from '../api.ts';
import { MerchantName } from '../names.tsx';

const PAGE = 100;

/** Deliveries that were given up: seven failures, or refused. */
export function DeadLettersPage() {
  const summary = useCommand('dead-letters-summary');
  const letters = useCommand('dead-letters-list', { limit: PAGE });
  return (
    <Screen title="Dead letters">
      <p>
        Deliveries that failed seven times, or were refused. <Way to="/replays">A replay</Way> of what failed
        sends them again. <Way to="/runbook/HookrailDeadLetters">What to do</Way>
      </p>
      <Shown query={summary}>
        {(list) => (
          <ul className="lines">
            {list.map(({ reason, count, newest }) => (
              <li key={reason}>
                <strong>{inWords(reason)}</strong> {count}
                <span className="note">
                  newest <Time at={newest} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <ReadTable
        label="Dead letters, oldest first"
        none="There is none."
        query={letters}
        rowsOf={(list) => list}
        keyOf={({ position }) => position}
        names="delivery"
        columns={{
          'given up': ({ at }) => <Time at={at} />,
          delivery: ({ deliveryId, type, subType }) => (
            <Way to={`/deliveries/${deliveryId}`}>{`${type}/${subType}`}</Way>
          ),
          merchant: ({ merchantId }) => <MerchantName id={merchantId} />,
          reason: ({ reason }) => inWords(reason),
          failure: ({ failureCode }) => failureCode ?? '–',
        }}
      />
    </Screen>
  );
}
