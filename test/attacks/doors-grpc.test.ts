import t from 'tap'
import { everyDoor } from './every-door.js'

t.test('every door of gRPC: a bystander is answered, and nothing is held once the clients have gone', (t) =>
  everyDoor(t, 'gRPC'),
)
