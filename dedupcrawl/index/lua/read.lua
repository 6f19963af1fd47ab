return {'read', unknown_rows(), restored, count}
