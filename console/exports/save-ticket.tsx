import { clock } from '../api/api.ts';
import type { DeliveryDetail } from '../api/shapes.ts';
import { explained } from '../delivery/explained.ts';
import { Button } from '../parts/controls.tsx';
import { useEndpoint } from '../parts/endpoint.tsx';
import { fileNameOf, stampOf } from './file-name.ts';
import { save } from './save.ts';
import { ticketOf } from './ticket.ts';

/** Saves a delivery as a file for the ticket of whoever runs the receiver. */
export function SaveTicket({ delivery }: { readonly delivery: DeliveryDetail }) {
  const endpoint = useEndpoint(delivery.endpoint_uuid);
  const onClick = () => {
    const now = clock.now();
    const savedAt = new Date(now).toISOString();
    const text = ticketOf({ delivery, endpoint, explanation: explained(delivery), savedAt });
    save(fileNameOf(['delivery', delivery.delivery_uuid, stampOf(now)], 'md'), text, 'text/markdown');
  };
  return <Button onClick={onClick}>Save for a ticket</Button>;
}
